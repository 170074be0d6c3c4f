import { InMemoryTreatments } from './in-memory-treatments.js';
import { InMemoryVisits } from './in-memory-visits.js';
import { describeVisitsSuite } from './visits-suite.js';

describeVisitsSuite('InMemoryVisits', () => {
  const visits = new InMemoryVisits();
  return Promise.resolve({ repository: visits, reader: visits, treatments: new InMemoryTreatments(visits) });
});
