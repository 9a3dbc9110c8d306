const frameTolerance = 0.15;

export function countedSeconds(measured: number): number {
  const whole = Math.round(measured);
  return whole > 0 && Math.abs(measured - whole) <= frameTolerance ? whole : Math.round(measured * 100) / 100;
}
