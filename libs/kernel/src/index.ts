export * from './clock.js';
export * from './domain-error.js';
export * from './domain-event.js';
export * from './json-text.js';
export * from './page.js';
export * from './request.js';
export * from './value-rules.js';
