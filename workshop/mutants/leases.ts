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
    find: '{ _id: id, beat }, { $set: { dead: true } }',
    replace: '{ _id: id, beat: { $gte: beat } }, { $set: { dead: true } }',
    tests: ['test/store/image-leases.test.ts'],
  },
  {
    name: 'lease-dead-at-sight',
    breaks: 'A lease is dead only after it was seen unchanged for a while, by our own clock.',
    file: 'src/images/leases/release-dead-leases.ts',
    find: '      if (sightings.unchangedMs(lease.id, lease.beat) < deadAfterMs) continue;\n',
    replace: '',
    tests: leases,
  },
  {
    name: 'late-hold-voided',
    breaks: 'The hold of an image that nobody serves any more is refused, however late it comes.',
    file: 'src/images/leases/close-hold.ts',
    find: "if (owner === undefined) return 'was_closed';",
    replace: "if (owner !== '') return 'was_closed';",
    tests: leases,
  },
];
