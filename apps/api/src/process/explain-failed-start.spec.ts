import { MigrationLockError, UnsuitableDatabaseError } from '@animal-store/database';
import { describe, expect, it } from '@jest/globals';
import { explainFailedStart } from './explain-failed-start.js';
import { StartupError } from './startup-error.js';

const config = {
  host: 'api.invalid',
  adminHost: 'admin.invalid',
  adminPort: 9464,
  databaseUrl: 'postgres://store:secret@db.example,db2.example:5433/store',
};
const failure = (code: string, members: object = {}, message = code) => Object.assign(new Error(message), { code, ...members });

describe('explainFailedStart', () => {
  it.each([
    [failure('EADDRINUSE', { syscall: 'listen', port: 3000 }), 'Port 3000 is in use; set PORT to another port.'],
    [failure('EADDRINUSE', { syscall: 'listen', port: 9464 }), 'Port 9464 is in use; set ADMIN_PORT to another port.'],
    [failure('EADDRINUSE', { syscall: 'bind', port: 3000 }), 'Port 3000 is in use; set PORT to another port.'],
    [failure('EACCES', { syscall: 'listen', port: 80 }), 'Port 80 requires more privileges; set PORT to 1024 or above.'],
    [
      failure('EADDRNOTAVAIL', { syscall: 'listen', address: '192.0.2.1', port: 3000 }),
      'HOST 192.0.2.1 is not an address of this machine; set HOST to an address of this machine, or to 0.0.0.0 for all IPv4 addresses.',
    ],
    [
      failure('EADDRNOTAVAIL', { syscall: 'listen', address: '192.0.2.1', port: 9464 }),
      'ADMIN_HOST 192.0.2.1 is not an address of this machine; set ADMIN_HOST to an address of this machine, or to 0.0.0.0 for all IPv4 addresses.',
    ],
    [
      new UnsuitableDatabaseError('it has the encoding LATIN1, and must have UTF8', 'create one'),
      'The database at db.example:5432,db2.example:5433 cannot be used: it has the encoding LATIN1, and must have UTF8: create one',
    ],
    [
      failure('25006', {}, 'cannot execute CREATE TABLE in a read-only transaction'),
      'The database at db.example:5432,db2.example:5433 is read-only: cannot execute CREATE TABLE in a read-only transaction',
    ],
    [
      failure('57014', {}, 'canceling statement due to statement timeout'),
      'A timeout of the database at db.example:5432,db2.example:5433 stopped a statement: canceling statement due to statement timeout',
    ],
    [failure('ENOTFOUND', { syscall: 'getaddrinfo', hostname: 'api.invalid' }), 'HOST api.invalid cannot be used: ENOTFOUND'],
    [failure('EAI_AGAIN', { syscall: 'getaddrinfo', hostname: 'admin.invalid' }), 'ADMIN_HOST admin.invalid cannot be used: EAI_AGAIN'],
    [failure('EINVAL', { syscall: 'listen', address: 'fe80::1', port: 3000 }), 'HOST fe80::1 cannot be used: EINVAL'],
    [
      failure('ENOTFOUND', { syscall: 'getaddrinfo', hostname: 'db.example' }, 'getaddrinfo ENOTFOUND db.example'),
      'The database at db.example:5432,db2.example:5433 cannot be reached: getaddrinfo ENOTFOUND db.example',
    ],
    [
      failure('EADDRNOTAVAIL', { syscall: 'connect', address: '192.0.2.1', port: 5432 }, 'connect EADDRNOTAVAIL 192.0.2.1'),
      'The database at db.example:5432,db2.example:5433 cannot be reached: connect EADDRNOTAVAIL 192.0.2.1',
    ],
    [
      failure('08001', {}, 'the server does not support TLS, which sslmode requires'),
      'The database at db.example:5432,db2.example:5433 cannot be reached: the server does not support TLS, which sslmode requires',
    ],
    [new MigrationLockError('it is locked'), 'The migrations were not applied: it is locked'],
    [
      failure('55P03', {}, 'canceling statement'),
      'A timeout of the database at db.example:5432,db2.example:5433 stopped a statement: canceling statement',
    ],
    [failure('ECONNREFUSED', {}, ''), 'The database at db.example:5432,db2.example:5433 cannot be reached: ECONNREFUSED'],
    [
      new Error('Connection terminated unexpectedly'),
      'The database at db.example:5432,db2.example:5433 cannot be reached: Connection terminated unexpectedly',
    ],
    [
      failure('28P01', {}, 'password authentication failed\nfor nobody'),
      'The database at db.example:5432,db2.example:5433 rejects the connection: password authentication failed',
    ],
    [
      failure('3D000', {}, 'database "store" does not exist'),
      'The database at db.example:5432,db2.example:5433 rejects the connection: database "store" does not exist',
    ],
    [
      failure('42501', {}, 'permission denied for schema public'),
      'The database role lacks the privileges to migrate (permission denied for schema public): run "animal-store migrate up" as the owner first.',
    ],
  ])('explains %o in one line', (error, line) => {
    expect(explainFailedStart(error, config)).toEqual(new StartupError(line));
  });

  it('returns other errors unchanged', () => {
    const error = new TypeError('x is not a function');
    expect(explainFailedStart(error, config)).toBe(error);
  });
});
