import { describe, expect, it } from 'vitest';
import { createAddressRules, ipLiteral, isLocalhost } from '../../src/http-client/address-rules.ts';

const open = createAddressRules([]);
const permitting = createAddressRules(['10.0.0.0/8', 'fd00:1::/32', '127.0.0.0/8']);

describe('a peer', () => {
  it.each(['8.8.8.8', '::ffff:8.8.8.8', '::ffff:808:808', '2606:4700::1111', '2606:4700::1111%eth0'])(
    'at %s is public, in each notation of the system',
    (address) => expect(open.permits(address, address)).toBe(true),
  );

  it.each([
    '10.0.0.1', '::ffff:10.0.0.1', '::ffff:a00:1', '127.0.0.1', '::ffff:127.0.0.1', '169.254.169.254',
    '::ffff:169.254.169.254', '168.63.129.16', '::ffff:168.63.129.16', '192.0.0.192', '100.64.0.1', '0.0.0.0', '::',
    '::1', 'fe80::1%eth0', 'fd00:1::1', '64:ff9b::a00:1', '2002:a00:1::1', '2001:db8::1', '3fff::1', '224.0.0.1',
    '255.255.255.255', '010.0.0.1', '2130706433', '0x7f.1', 'localhost', '',
  ])('at %s is not public', (address) => expect(open.permits(address, address)).toBe(false)); // prettier-ignore

  it.each(['10.1.2.3', '::ffff:10.1.2.3', 'fd00:1::7', '127.0.0.1', '8.8.8.8'])(
    'at %s is permitted if an operator names its network',
    (address) => expect(permitting.permits(address, address)).toBe(true),
  );

  it.each(['172.16.0.1', '::ffff:192.168.0.1', 'fd00:2::7', '::1'])(
    'at %s is not permitted, because it is in another network',
    (address) => expect(permitting.permits(address, address)).toBe(false),
  );
});

it('localhost is permitted only as far as the operator permits it', () => {
  expect(open.loopbackOf('localhost')).toEqual([]);
  expect(permitting.loopbackOf('localhost')).toEqual(['127.0.0.1']);
  expect(createAddressRules(['::1/128']).loopbackOf('localhost')).toEqual(['::1']);
  expect(createAddressRules(['localhost']).loopbackOf('localhost')).toEqual(['127.0.0.1', '::1']);
});

describe('a host that the operator named', () => {
  const named = createAddressRules(['renderer.internal', '*.svc.cluster.local']);

  it.each(['renderer.internal', 'a.svc.cluster.local', 'a.b.svc.cluster.local'])(
    'is permitted as %s at any address',
    (hostname) => {
      expect(named.permits('10.1.2.3', hostname)).toBe(true);
      expect(named.checkUrl(`http://${hostname}/video.mp4`)).toBeUndefined();
    },
  );

  it.each(['other.internal', 'a.renderer.internal', 'svc.cluster.local', 'asvc.cluster.local', 'renderer'])(
    'does not permit %s',
    (hostname) => {
      expect(named.permits('10.1.2.3', hostname)).toBe(false);
      expect(named.checkUrl(`http://${hostname}/video.mp4`)).toBeDefined();
    },
  );

  it.each(['renderer', 'renderer.internal', 'a.svc.cluster.local'])(
    'must be named for %s, because a CIDR alone permits no internal name',
    (hostname) => {
      expect(permitting.checkUrl(`http://${hostname}/video.mp4`)).toBe('Its host is not a public address.');
    },
  );
});

it.each(['localhost', 'LOCALHOST', 'a.localhost', 'localhost.'])('%s is localhost', (name) => {
  expect(isLocalhost(name)).toBe(true);
});

it.each(['localhost.example', 'notlocalhost', 'local'])('%s is not localhost', (name) => {
  expect(isLocalhost(name)).toBe(false);
});

it.each([
  ['[::1]', '::1'],
  ['::1', '::1'],
  ['8.8.8.8', '8.8.8.8'],
  ['[8.8.8.8]', '8.8.8.8'],
  ['example.org', undefined],
  ['[example.org]', undefined],
])('the literal of %s is %s', (host, literal) => expect(ipLiteral(host)).toBe(literal));
