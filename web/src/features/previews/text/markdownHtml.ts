import { marked } from 'marked';
import { disarm } from '../common/disarm.js';

/** Markdown as HTML that is not sanitized yet. */
export function markdownHtml(text: string): string {
	return disarm(withoutStyles(marked.parse(text, { async: false, gfm: true })));
}

/** The browser checks a style sheet against the policy as soon as it is parsed, and logs violations. */
export function withoutStyles(html: string): string {
	const parts: string[] = [];
	const opening = /<(style|script)\b/gi;
	const closings = { style: /<\/style\s*>/gi, script: /<\/script\s*>/gi };
	let at = 0;
	for (let found = opening.exec(html); found; found = opening.exec(html)) {
		parts.push(html.slice(at, found.index));
		const closing = closings[(found[1] ?? '').toLowerCase() as keyof typeof closings];
		closing.lastIndex = opening.lastIndex;
		// One without an end takes all the rest with it, so nothing is searched twice.
		if (!closing.test(html)) return parts.join('');
		at = closing.lastIndex;
		opening.lastIndex = at;
	}
	return parts.join('') + html.slice(at);
}
