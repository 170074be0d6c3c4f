import { PageQueryOf } from '@animal-store/http-kit';

export class ListVisitsQuery extends PageQueryOf('visits') {}
