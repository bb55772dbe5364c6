export * from './access/areas.js';
export * from './access/clipboard.js';
export * from './access/linkExpirations.js';
export * from './access/permissions.js';
export * from './access/settings.js';
export * from './access/shares.js';
export * from './addTo.js';
export * from './batches.js';
export * from './display/clients.js';
export * from './display/controls.js';
export * from './display/dates.js';
export * from './display/durations.js';
export * from './display/plural.js';
export * from './display/sizes.js';
export * from './display/speedMeter.js';
export * from './failure.js';
export * from './kinds/contentTypes.js';
export * from './kinds/conversion.js';
export * from './kinds/fileTypes.js';
export * from './kinds/previews.js';
export * from './kinds/sniff.js';
export * from './kinds/videoContainer.js';
export * from './kinds/xmlProlog.js';
export * from './listing/alphabet.js';
export * from './listing/insertEntries.js';
export * from './listing/listing.js';
export * from './listing/parts.js';
export * from './listing/search.js';
export {
	compareNames,
	defaultSortMode,
	isSortMode,
	NameOrder,
	type SortColumn,
	type SortMode,
	sortColumns,
	sortEntries,
	sortingByName,
	sortModes,
	sortOrder,
	toggleSort,
} from './listing/sorting.js';
export * from './names/dialogPaths.js';
export * from './names/names.js';
export * from './names/PathMap.js';
export * from './names/paths.js';
export * from './names/text.js';
export * from './names/zipNames.js';
