/**
 * Renames the attributes of markup that would be handlers. Cleaning removes them anyway; but the browser looks at each as soon as the markup is parsed, in
 * whatever document, and tells of what the page's policy forbids.
 */
export function disarm(markup: string): string {
	return markup.replaceAll(/<[a-z!/?](?:"[^"]*"|'[^']*'|[^"'>])*>?/gi, (tag) =>
		tag.replaceAll(/([\s/"'])(on[a-z]+\s*=)/gi, '$1data-$2'),
	);
}
