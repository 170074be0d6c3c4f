export { Public, PUBLIC, REQUIRED_SCOPES, RequireScopes } from './access.js';
export { Deprecated, type Deprecation, DEPRECATION, SUNSET_EXTENSION } from './deprecation.js';
export { INVALID_REQUEST, Throws, THROWS_EXTENSION } from './errors.js';
export { PublicUrl } from './public-url.js';
export { MayBeAbsent, QueryInteger, Rule } from './validation-rules.js';
