import { z } from 'zod';
import { parseJson } from '../base/parse-json.ts';

/** `vendors` maps the paths in gateway.yaml to the contents of the vendor files. */
export interface ConfigurationText {
  readonly gateway: string;
  readonly vendors: Readonly<Record<string, string>>;
}

const head = '{"mediary_configuration":1,';

const packedSchema = z.object({ gateway: z.string(), vendors: z.record(z.string(), z.string()) });

/**
 * Packs all files into one text so that one hash covers them. Without vendor files, the text is gateway.yaml itself.
 */
export function packText({ gateway, vendors }: ConfigurationText): string {
  if (Object.keys(vendors).length === 0) return gateway;
  return head + JSON.stringify({ gateway, vendors }).slice(1);
}

export function unpackText(text: string): ConfigurationText {
  const packed = text.startsWith(head) ? packedSchema.safeParse(parseJson(text)).data : undefined;
  return packed ?? { gateway: text, vendors: {} };
}
