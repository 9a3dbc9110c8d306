import { z } from 'zod';
import { parseJson } from '../base/parse-json.ts';

/** A configuration as it is published: gateway.yaml, and the vendor files that it names, by their paths there. */
export interface ConfigurationText {
  readonly gateway: string;
  readonly vendors: Readonly<Record<string, string>>;
}

const head = '{"mediary_configuration":1,';

const packedSchema = z.object({ gateway: z.string(), vendors: z.record(z.string(), z.string()) });

/** One text, whose hash changes with each of the files. Without vendor files it is gateway.yaml. */
export function packText({ gateway, vendors }: ConfigurationText): string {
  if (Object.keys(vendors).length === 0) return gateway;
  return head + JSON.stringify({ gateway, vendors }).slice(1);
}

export function unpackText(text: string): ConfigurationText {
  const packed = text.startsWith(head) ? packedSchema.safeParse(parseJson(text)).data : undefined;
  return packed ?? { gateway: text, vendors: {} };
}
