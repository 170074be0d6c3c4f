/** Availability of a pet. */
export enum PetStatus {
  Available = 'available',
  Pending = 'pending',
  Sold = 'sold',
}

export const PET_STATUSES: readonly PetStatus[] = Object.values(PetStatus);

export const DEFAULT_PET_STATUS = PetStatus.Available;

export const PET_STATUS_RULE = `must be one of ${PET_STATUSES.join(', ')}`;

export function isPetStatus(value: unknown): value is PetStatus {
  return (PET_STATUSES as readonly unknown[]).includes(value);
}
