import { encodePath } from '@stowage/rules';
import { TooMuchMarkup } from '../common/markup/markupBounds.js';

/** Characters of all paths that are resolved together, each with the one that it is resolved against. A large book has a tenth. */
const maxCharacters = 20_000_000;

/** What takes a browser as long as the rest of a short one. */
const leastCharacters = 100;

/** Resolves a relative path without leaving the book. */
export type ResolvePath = (from: string, href: string) => string;

/**
 * For all paths of a package or of a chapter, which may have any number of them beside a long path of its own. Throws `TooMuchMarkup` once
 * they take too long.
 */
export function bookPaths(): ResolvePath {
	let left = maxCharacters;
	let known = { from: '', base: 'http://book/' };
	return (from, href) => {
		const [path = '', fragment] = href.split('#', 2);
		left -= from.length + path.length + leastCharacters;
		if (left < 0) throw new TooMuchMarkup('It has too many addresses.');
		if (known.from !== from) known = { from, base: `http://book/${encodePath(from)}` };
		let pathname: string;
		try {
			pathname = new URL(path, known.base).pathname;
		} catch {
			// Nothing can be there, as at `http://`.
			return '';
		}
		try {
			pathname = decodeURIComponent(pathname);
		} catch {
			// A percent sign that is one.
		}
		return pathname.slice(1) + (fragment === undefined ? '' : `#${fragment}`);
	};
}
