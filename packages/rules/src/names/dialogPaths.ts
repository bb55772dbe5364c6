const maxShownPaths = 5;

/** The lines in which a dialog lists its items: at most 5 paths, then `…and N more` (spec, section 2). */
export function dialogPaths(paths: readonly string[]): string[] {
	const more = paths.length - maxShownPaths;
	return more > 0 ? [...paths.slice(0, maxShownPaths), `…and ${more} more`] : [...paths];
}
