/** For `npm run jest`, which runs specs of any project; `nx test` runs those of one. */
export default { projects: ['<rootDir>/{apps,libs,libs/*,tools}/*/jest.config.js'] };
