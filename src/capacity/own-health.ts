import { dueAtOnce, type Circuit } from '../health/circuit-rules.ts';
import type { ChannelHealthStore } from '../store/channel-health.ts';

/**
 * Has the same interface as the `channel_health` store, but keeps everything in memory, because it concerns this
 * process only.
 */
export function createOwnHealth(now: () => number): ChannelHealthStore {
  const circuits = new Map<string, Circuit>();
  const probes = new Map<string, { readonly task: string; readonly until: number }>();
  return {
    list: async () => [...circuits.values()],
    async write(id, record) {
      circuits.set(id, { ...record, id });
      probes.delete(id);
    },
    async makeDue(circuit) {
      circuits.set(circuit.id, dueAtOnce(circuit));
      probes.delete(circuit.id);
    },
    async takeProbe(id, { task, leaseMs }) {
      if ((probes.get(id)?.until ?? 0) > now()) return false;
      probes.set(id, { task, until: now() + leaseMs });
      return true;
    },
    async giveBackProbe(id, task) {
      if (probes.get(id)?.task === task) probes.delete(id);
    },
  };
}
