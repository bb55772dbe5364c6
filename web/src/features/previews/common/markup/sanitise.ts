/**
 * Renames the attributes of markup that would be handlers. Cleaning removes them anyway; but the browser checks each
 * as soon as the markup is parsed, in any document, and logs violations of the page's policy. So are style sheets that
 * no parser may be given.
 */
export function sanitise(markup: string): string {
	const plain = hasDeepStyles(markup) ? markup.replaceAll(/([<:/])style\b/gi, '$1data-css') : markup;
	return plain.replaceAll(/<[a-z!/?](?:"[^"]*"|'[^']*'|[^"'>])*>?/gi, (tag) =>
		tag.replaceAll(/([\s/"'])(on[a-z]+\s*=)/gi, '$1data-$2'),
	);
}

const maxBrackets = 500;

/**
 * Whether a style sheet has so many brackets within each other that the browser's parser would end with its tab: it
 * reads them in any document.
 */
function hasDeepStyles(markup: string): boolean {
	const begin = /[<:]style\b/gi;
	for (let found = begin.exec(markup); found; found = begin.exec(markup)) {
		const end = endOfStyle(markup, found.index + 1);
		let depth = 0;
		for (let at = found.index; at < end; at++) {
			const character = markup[at] ?? '';
			// A reference of XML may be a bracket.
			if ('([{'.includes(character) || (character === '&' && markup[at + 1] === '#')) depth++;
			else if (depth > 0 && ')]}'.includes(character)) depth--;
			if (depth > maxBrackets) return true;
		}
		begin.lastIndex = end;
	}
	return false;
}

function endOfStyle(markup: string, start: number): number {
	const close = /\/style\b/gi;
	close.lastIndex = start;
	const end = close.exec(markup)?.index ?? markup.length;
	const section = markup.slice(start, end).lastIndexOf('<![CDATA[');
	if (section === -1 || markup.slice(start + section, end).includes(']]>')) return end;
	const sectionEnd = markup.indexOf(']]>', end);
	return sectionEnd === -1 ? markup.length : sectionEnd;
}
