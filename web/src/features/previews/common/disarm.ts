/**
 * Renames the attributes of markup that would be handlers. Cleaning removes them anyway; but the browser checks each as soon as the markup is parsed, in
 * any document, and logs violations of the page's policy.
 */
export function disarm(markup: string): string {
	return markup.replaceAll(/<[a-z!/?](?:"[^"]*"|'[^']*'|[^"'>])*>?/gi, (tag) =>
		tag.replaceAll(/([\s/"'])(on[a-z]+\s*=)/gi, '$1data-$2'),
	);
}
