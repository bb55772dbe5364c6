const shownPaths = 5;

/** The lines in which a dialog lists its items: at most 5 paths, then `…and N more` (spec, section 2). */
export function dialogPaths(paths: readonly string[]): string[] {
	const more = paths.length - shownPaths;
	return more > 0 ? [...paths.slice(0, shownPaths), `…and ${more} more`] : [...paths];
}
