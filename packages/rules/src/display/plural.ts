/** `1 file`, `2 files`, `0 files`; the plural form is named where an `s` does not make it. */
export function plural(count: number, singular: string, plural = `${singular}s`): string {
	return `${count} ${count === 1 ? singular : plural}`;
}
