import type { Circuit } from '../health/circuit-rules.ts';
import type { ChannelHealthStore } from '../store/channel-health.ts';

/** What one process alone knows of its credentials: as `channel_health`, in its memory. */
export function createOwnHealth(now: () => number): ChannelHealthStore {
  const circuits = new Map<string, Circuit>();
  const probes = new Map<string, number>();
  return {
    list: async () => [...circuits.values()],
    async write(id, record) {
      circuits.set(id, { ...record, id });
      probes.delete(id);
    },
    /** Whose turn it is the caller has decided: no other process knows more. */
    async takeProbe(id, { leaseMs }) {
      if ((probes.get(id) ?? 0) > now()) return false;
      probes.set(id, now() + leaseMs);
      return true;
    },
  };
}
