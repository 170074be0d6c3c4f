/** What `@Transform` and the like have declared; the package exports it by this path alone. */
declare module 'class-transformer/cjs/storage.js' {
  export { defaultMetadataStorage } from 'class-transformer/types/storage.js';
}
