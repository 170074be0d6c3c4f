export * from './settings.js';
export * from './validators.js';
