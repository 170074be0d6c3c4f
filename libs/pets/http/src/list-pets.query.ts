import { MayBeAbsent, QueryInteger, Rule } from '@animal-store/http-contract';
import { isPetStatus, MAX_PAGE_LENGTH, PET_STATUSES, type PetStatus } from '@animal-store/pets-domain';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { PET_STATUS_RULE } from './new-pet.dto.js';
import { decodePetCursor } from './pet-cursor.js';

const LIMIT = { minimum: 1, maximum: MAX_PAGE_LENGTH, default: 20 } as const;

export class ListPetsQuery {
  @ApiPropertyOptional({ type: 'integer', ...LIMIT, description: 'Maximum number of animals returned.' })
  @MayBeAbsent()
  @QueryInteger(LIMIT)
  limit: number = LIMIT.default;

  @ApiPropertyOptional({ enum: PET_STATUSES, enumName: 'PetStatus', description: 'Only animals of this availability status.' })
  @MayBeAbsent()
  @Rule(PET_STATUS_RULE, isPetStatus)
  status?: PetStatus;

  @ApiPropertyOptional({
    type: 'string',
    description: 'The page to continue with, as the `Link` header of the page before it says. It belongs to one `status`.',
  })
  @MayBeAbsent()
  @Rule(
    'must be the cursor of a Link header that this list answered, for the same status',
    (cursor, query) => decodePetCursor(cursor, (query as ListPetsQuery).status) !== undefined,
  )
  cursor?: string;
}
