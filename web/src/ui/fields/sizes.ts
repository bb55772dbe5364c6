/** The units from the smallest on, each 1024 times the one before. */
export const sizeUnits = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

export type SizeUnit = (typeof sizeUnits)[number];

/** A size as it is typed. A unit in the text, as in `1.5 GB`, is used instead of the chosen one. */
export interface SizeDraft {
	text: string;
	unit: SizeUnit;
}

/** A size as a field shows it, rounded; without one the unit that is offered. */
export function sizeDraft(bytes: number | undefined, unit: SizeUnit = 'MB'): SizeDraft {
	if (bytes === undefined) return { text: '', unit };
	const largest = sizeUnits.findLastIndex((_, index) => bytes >= 1024 ** index);
	const index = Math.max(0, largest);
	return { text: String(Number((bytes / 1024 ** index).toFixed(2))), unit: sizeUnits[index] ?? 'B' };
}

/** The size in bytes; undefined if the text is none. A decimal comma counts as a point. */
export function parseSize(draft: SizeDraft): number | undefined {
	const { amount } = partsOf(draft.text);
	const unit = unitOf(draft);
	if (unit === undefined || !/^(?:\d+(?:[.,]\d*)?|[.,]\d+)$/.test(amount)) return undefined;
	const bytes = Math.round(Number(amount.replace(',', '.')) * 1024 ** sizeUnits.indexOf(unit));
	return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The typed unit, otherwise the chosen one; undefined if the typed one is none. `m`, `MB` and `MiB` are the same. */
export function unitOf({ text, unit }: SizeDraft): SizeUnit | undefined {
	const { letters } = partsOf(text);
	return letters === '' ? unit : sizeUnits.find((each) => spellings(each).includes(letters.toUpperCase()));
}

function spellings(unit: SizeUnit): string[] {
	return unit === 'B' ? ['B', 'BYTE', 'BYTES'] : [unit, unit.charAt(0), `${unit.charAt(0)}IB`];
}

/** Another unit for the same number: a typed one is taken out of the text. */
export function withUnit({ text }: SizeDraft, unit: SizeUnit): SizeDraft {
	return { text: partsOf(text).amount, unit };
}

/** A typed size as its number and its unit, which may be empty. A text that has another form counts as a number that is none. */
function partsOf(text: string): { amount: string; letters: string } {
	const parts = /^([\d.,]*)\s*([a-z]*)$/i.exec(text.trim());
	return parts ? { amount: parts[1] ?? '', letters: parts[2] ?? '' } : { amount: text, letters: '' };
}
