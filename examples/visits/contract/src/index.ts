export { VisitCatalogue } from './visit-catalogue.js';
