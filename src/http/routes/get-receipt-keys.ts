import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { jsonReply, openRoute, type Route } from '../route.ts';

const keySchema = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string().meta({ description: 'The key’s thumbprint (RFC 7638).' }),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
});

type Deps = Pick<RouteDeps, 'catalogue' | 'receiptKeys'>;

export function getReceiptKeys({ catalogue, receiptKeys }: Deps): Route {
  return openRoute({
    operationId: 'getReceiptKeys',
    summary: 'Get the public keys for receipts',
    description: 'A JSON Web Key Set (RFC 7517): first the current key, then earlier ones.',
    tag: 'Service',
    method: 'get',
    paths: ['/.well-known/jwks.json'],
    input: z.object({}),
    success: { description: 'The keys.', schema: z.object({ keys: z.array(keySchema) }) },
    handle: () => jsonReply({ keys: receiptKeys.published(catalogue.current().receipts.key) }),
  });
}
