import { PublicUrl } from '@animal-store/http-contract';

export class ConfiguredPublicUrl extends PublicUrl {
  constructor(private readonly base: string = '') {
    super();
  }

  override of(path: string): string {
    return this.base + path;
  }
}
