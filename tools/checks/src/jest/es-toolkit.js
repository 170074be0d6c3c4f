import compat from '../../../../node_modules/es-toolkit/dist/browser.global.js';

// What @nestjs/swagger imports. Jest does not find the names in a minified file.
export const { assign, clone, cloneDeep, compact, find, flatMap, flatten, get, groupBy, head, identity, isArray, isEmpty } = compat;
export const { isEqual, isFunction, isNil, isString, isUndefined, keyBy, map, mapValues, merge, negate, omit, omitBy } = compat;
export const { pick, pickBy, some, unionWith, uniq } = compat;
