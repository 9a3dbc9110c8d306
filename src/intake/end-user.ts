/** Characters that nobody sees, and what steers the direction of a text. */
const invisible = /\p{Cf}|\p{Cc}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

/** One spelling of an end user, whose caps are counted by it: they cannot be evaded by one that looks the same. */
export function canonicalEndUser(name: string): string {
  return name.normalize('NFKC').replaceAll(invisible, '').trim();
}
