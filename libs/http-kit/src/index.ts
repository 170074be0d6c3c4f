export * from './conditional-requests.js';
export * from './define-context.js';
export * from './idempotency-key.js';
export type { Cursor } from './cursors.js';
export * from './pages.js';
export { toDto } from './responses.js';
export * from './routes.js';
export * from './validation-rules.js';
