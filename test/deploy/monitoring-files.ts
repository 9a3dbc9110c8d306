import { parse } from 'yaml';
import { z } from 'zod';
import { readRepositoryFile } from './compose-file.ts';

export const rulesText = readRepositoryFile('deploy/prometheus/mediary.rules.yaml');
export const rulesTestText = readRepositoryFile('deploy/prometheus/rules.test.yaml');

const alertSchema = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});

export const alerts = z
  .object({ groups: z.array(z.object({ rules: z.array(alertSchema) })) })
  .parse(parse(rulesText))
  .groups.flatMap(({ rules }) => rules);

const panelSchema = z.looseObject({
  id: z.number(),
  type: z.string(),
  title: z.string(),
  targets: z.array(z.looseObject({ expr: z.string(), legendFormat: z.string() })).default([]),
});

export const dashboard = z
  .looseObject({ uid: z.string(), panels: z.array(panelSchema) })
  .parse(JSON.parse(readRepositoryFile('deploy/grafana/mediary.json')));

export const dashboardExpressions = dashboard.panels.flatMap(({ targets }) =>
  targets.map(({ expr, legendFormat }) => ({
    expr: expr.replaceAll('$__rate_interval', '5m'),
    labels: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
  })),
);

export interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

export function selectorsOf(expr: string): readonly Selector[] {
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/));
  const bare = expr.replaceAll(/\bby \([^)]*\)/g, '').replaceAll(/\[[^\]]*\]/g, '');
  const found = bare.matchAll(/\b([a-zA-Z_]\w*)\b(?!\()(?:\{([^}]*)\})?/g);
  return [...found]
    .filter(([, name = '']) => /_/.test(name) || name === 'up' || name === 'ALERTS')
    .filter(([, name = '']) => !/^(?:min_over_time|histogram_quantile)$/.test(name))
    .map(([, name = '', matchers = '']) => ({
      name,
      labels: [...[...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label), ...grouped],
    }));
}
