import type { SearchKind } from '@stowage/rules';

/** The words of the filters of a search. */
export const filterMessages = {
	kind: 'Kind',
	kinds: {
		folder: 'Folder',
		image: 'Image',
		video: 'Video',
		audio: 'Audio',
		document: 'Document',
		text: 'Text',
		archive: 'Archive',
		other: 'Other',
	} satisfies Record<SearchKind, string>,
	minSize: 'Larger than',
	maxSize: 'Smaller than',
	minUnit: 'Unit of the smallest size',
	maxUnit: 'Unit of the largest size',
	after: 'Changed after',
	before: 'Changed before',
	boundsHint: 'The sizes and days that you enter are included.',
	apply: 'Apply',
	invalidSize: 'Enter a size such as 10 or 1.5 GB.',
	invalidDay: 'Enter a day from 1970 on.',
	crossedSizes: 'Nothing is larger than the one size and smaller than the other: exchange them.',
	crossedDays: 'Nothing was changed after the one day and before the other: exchange them.',
	setFilters: 'Limited to',
	removeFilter: (filter: string) => `Remove filter ${filter}`,
} as const;
