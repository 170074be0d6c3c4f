import { type ApiKeySecret, KeyHasher, type KeyHash } from '@animal-store/access-domain';
import { hash } from 'node:crypto';

export class Sha256KeyHasher extends KeyHasher {
  override hash(secret: ApiKeySecret): KeyHash {
    return hash('sha256', secret, 'hex') as KeyHash;
  }
}
