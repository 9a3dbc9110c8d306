import type { Mutant } from './mutant.ts';

const leases = ['test/images/leases/image-leases.test.ts'];

/** Leases of images. */
export const leaseMutants: readonly Mutant[] = [
  {
    name: 'confirm-lease',
    breaks: 'An image whose hold may have been closed meanwhile is not sent.',
    file: 'src/images/leases/process-lease.ts',
    find: 'confirm: async () => now() < validUntil || renew()',
    replace: 'confirm: async () => true',
    tests: leases,
  },
  {
    name: 'confirm-asked',
    breaks: 'The lease is asked between the hold and the request.',
    file: 'src/images/generate.ts',
    find: 'if (!(await watched.confirm())) {',
    replace: 'if (watched === undefined) {',
    tests: ['test/images/slow-hold.test.ts'],
  },
  {
    name: 'dead-lease-renewed',
    breaks: 'A late renewal does not bring back a lease that was declared dead.',
    file: 'src/store/image-leases.ts',
    find: '{ _id: id, dead: { $exists: false } }',
    replace: '{ _id: id }',
    tests: ['test/store/image-leases.test.ts'],
  },
  {
    name: 'living-lease-declared-dead',
    breaks: 'A lease that was renewed while it was observed is not dead.',
    file: 'src/store/image-leases.ts',
    find: '{ _id: id, expires_at: expiresAt }, { $set: { dead: true } }',
    replace: '{ _id: id, expires_at: { $lte: Math.max(expiresAt, 9e15) } }, { $set: { dead: true } }',
    tests: leases,
  },
];
