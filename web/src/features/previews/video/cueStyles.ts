/** What a style may say of a cue. Others, such as shadows, take a browser any time, or draw a picture. */
const properties: ReadonlySet<string> = new Set([
	...['color', 'opacity', 'visibility', 'background', 'background-color', 'white-space', 'line-height'],
	...['font', 'font-family', 'font-size', 'font-style', 'font-weight', 'font-variant', 'font-stretch'],
	...['text-decoration', 'text-decoration-line', 'text-decoration-color', 'text-combine-upright', 'ruby-position'],
]);

/** What may have brackets: a drawing, which an address may have in itself, is drawn in the page, however long that takes. */
const selectorBrackets = /:(?:cue|lang)\(/gi;
const colourBrackets = /\b(?:rgb|hsl)a?\(/gi;

/** A selector without escapes and `>`, which could end a block of styles. */
const plainSelector = /^::cue[\w\s.,:#*()[\]="'-]*$/i;
const plainValue = /^[\w\s.,#%()/!"'-]+$/;

/** A block of styles of WebVTT with what is listed above only; empty where nothing is left. */
export function plainStyles(block: string): string {
	const rules = withoutComments(block.replace(/^STYLE\b[^\n]*/, ''))
		.split('}')
		.flatMap(plainRule);
	return rules.length === 0 ? '' : ['STYLE', ...rules].join('\n');
}

function plainRule(rule: string): string[] {
	const [selector = '', declarations = '', ...nested] = rule
		.split('{')
		.map((part) => part.replaceAll(/\s+/g, ' ').trim());
	if (nested.length > 0 || !plainSelector.test(selector) || !hasOnly(selectorBrackets, selector)) return [];
	const kept = declarations
		.split(';')
		.map((declaration) => declaration.trim())
		.filter((declaration) => {
			const colon = declaration.indexOf(':');
			const value = declaration.slice(colon + 1);
			const isListed = properties.has(declaration.slice(0, Math.max(0, colon)).trim().toLowerCase());
			return isListed && plainValue.test(value) && hasOnly(colourBrackets, value);
		});
	return kept.length === 0 ? [] : [`${selector} {${kept.join('; ')}}`];
}

const hasOnly = (brackets: RegExp, text: string) => !text.replaceAll(brackets, '').includes('(');

function withoutComments(css: string): string {
	const [first = '', ...others] = css.split('/*');
	return [first, ...others.map((part) => (part.includes('*/') ? part.slice(part.indexOf('*/') + 2) : ''))].join(' ');
}
