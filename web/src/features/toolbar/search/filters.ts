import { formatDate, formatTime, type SearchFilters, type SearchKind, searchKinds } from '@stowage/rules';
import { parseSize, type SizeDraft, sizeDraft } from '../../../ui/fields/sizes.js';
import { filterMessages as messages } from './filterMessages.js';

/** What the fields of the filters contain. */
export interface FilterDraft {
	kinds: readonly SearchKind[];
	minSize: SizeDraft;
	maxSize: SizeDraft;
	/** A day as a date field has it, `2026-11-21`; `''` for none. */
	after: string;
	before: string;
}

/** The fields as these filters fill them. */
export function draftOf({ kinds = [], minSize, maxSize, after, before }: SearchFilters): FilterDraft {
	return {
		kinds,
		minSize: sizeDraft(minSize),
		maxSize: sizeDraft(maxSize),
		after: after === undefined ? '' : dayText(after),
		before: before === undefined ? '' : dayText(before),
	};
}

export type ReadDraft =
	| { filters: SearchFilters }
	| { error: string; field: 'minSize' | 'maxSize' | 'after' | 'before' };

/**
 * The filters that the fields mean, or why they mean none. A field that shows one of the filters of before means
 * exactly that: it may be rounded.
 */
export function readDraft(draft: FilterDraft, before: SearchFilters): ReadDraft {
	const shown = draftOf(before);
	const filters: SearchFilters = {};
	if (draft.kinds.length > 0) filters.kinds = searchKinds.filter((kind) => draft.kinds.includes(kind));
	for (const field of ['minSize', 'maxSize'] as const) {
		if (draft[field].text.trim() === '') continue;
		const isSame = draft[field].text === shown[field].text && draft[field].unit === shown[field].unit;
		const bytes = isSame ? before[field] : parseSize(draft[field]);
		if (bytes === undefined) return { error: messages.invalidSize, field };
		filters[field] = bytes;
	}
	for (const field of ['after', 'before'] as const) {
		if (draft[field] === '') continue;
		const parse = field === 'after' ? startOfDay : endOfDay;
		const time = draft[field] === shown[field] ? before[field] : parse(draft[field]);
		if (time === undefined || Number.isNaN(time) || time < 0) return { error: messages.invalidDay, field };
		filters[field] = time;
	}
	const { minSize = 0, maxSize = minSize, after = 0, before: end = after } = filters;
	if (minSize > maxSize) return { error: messages.crossedSizes, field: 'maxSize' };
	if (after > end) return { error: messages.crossedDays, field: 'before' };
	return { filters };
}

/** The local day of a time, as a date field has it. */
function dayText(time: number): string {
	const date = new Date(time);
	const part = (value: number, length = 2) => String(value).padStart(length, '0');
	return `${part(date.getFullYear(), 4)}-${part(date.getMonth() + 1)}-${part(date.getDate())}`;
}

/** The first moment of a local day, which is later than midnight where a clock is put forward then. */
function startOfDay(text: string, daysLater = 0): number {
	const [, year = '', month = '', day = ''] = /^(\d{4,6})-(\d\d)-(\d\d)$/.exec(text) ?? [];
	return year === '' ? Number.NaN : new Date(Number(year), Number(month) - 1, Number(day) + daysLater).getTime();
}

function endOfDay(text: string): number {
	return startOfDay(text, 1) - 1;
}

/** A filter that is set, as a tag shows it. */
export interface FilterTag {
	text: string;
	/** The filters without this one. */
	others: SearchFilters;
}

/** The filters that are set, in the order of their fields; each kind is one. */
export function filterTags(filters: SearchFilters): FilterTag[] {
	const { kinds = [], ...bounds } = filters;
	const { minSize, maxSize, after, before } = filters;
	const bound = (name: keyof typeof bounds, text: string): FilterTag => {
		const { [name]: _, ...others } = filters;
		return { text, others };
	};
	return [
		...kinds.map((kind) => {
			const others = kinds.filter((each) => each !== kind);
			return { text: messages.kinds[kind], others: others.length > 0 ? { ...bounds, kinds: others } : bounds };
		}),
		...(minSize === undefined ? [] : [bound('minSize', `${messages.minSize} ${sizeText(minSize)}`)]),
		...(maxSize === undefined ? [] : [bound('maxSize', `${messages.maxSize} ${sizeText(maxSize)}`)]),
		...(after === undefined ? [] : [bound('after', `${messages.after} ${timeText(after, startOfDay)}`)]),
		...(before === undefined ? [] : [bound('before', `${messages.before} ${timeText(before, endOfDay)}`)]),
	];
}

function sizeText(bytes: number): string {
	const { text, unit } = sizeDraft(bytes);
	return `${text} ${unit}`;
}

/** A day, with the time unless it is the day's edge: an address may come from another time zone. */
function timeText(time: number, edge: (day: string) => number): string {
	return edge(dayText(time)) === time ? formatDate(time) : `${formatDate(time)}, ${formatTime(time)}`;
}
