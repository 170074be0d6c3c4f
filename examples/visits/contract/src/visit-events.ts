import { defineEvent } from '@animal-store/kernel';

export const VisitBooked = defineEvent('visits.visit_booked', 'visitId', { visitId: 'int64', petId: 'int64', startsAt: 'time' });

export const VisitCancelled = defineEvent('visits.visit_cancelled', 'visitId', { visitId: 'int64', petId: 'int64', startsAt: 'time' });
