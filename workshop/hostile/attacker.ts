import { z } from 'zod';
import { openWire, type WireConnection } from '../../test/support/hostile-wire.ts';
import { createRandom } from '../stand/random.ts';
import { attacks } from './attacks.ts';
import type { Scene } from './scene.ts';
import { serve } from '../stand/helper.ts';

const order = z.object({
  attack: z.string(),
  url: z.string(),
  keys: z.array(z.string()),
  seconds: z.number(),
  seed: z.number(),
  localAddress: z.string().optional(),
});
type Order = z.infer<typeof order>;

serve(order, async (given) => {
  const attack = attacks.find(({ name }) => name === given.attack);
  if (attack === undefined) throw new Error(`there is no attack "${given.attack}"`);
  const statuses: Record<string, number> = {};
  for (const [part, run] of attack.parts.entries()) {
    const stage = setStage(given, part, (given.seconds * 1000) / attack.parts.length);
    await run(stage.scene);
    stage.end();
    for (const status of stage.wires.flatMap(({ answers }) => answers))
      statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return { statuses };
});

function setStage({ url, keys, seed, attack, localAddress }: Order, part: number, ms: number) {
  const wires: WireConnection[] = [];
  const ended = new AbortController();
  const end = (): void => {
    ended.abort();
    for (const wire of wires) wire.destroy();
  };
  setTimeout(end, ms);
  const scene: Scene = {
    keys,
    random: createRandom(seed, `${attack} ${part}`),
    signal: ended.signal,
    async open(reads = true) {
      const wire = await openWire({ url, localAddress, reads });
      wires.push(wire);
      if (ended.signal.aborted) wire.destroy();
      return wire;
    },
  };
  return { scene, wires, end };
}
