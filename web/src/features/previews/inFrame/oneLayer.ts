/**
 * What a browser draws in layers of their own. These are put together by the one process that draws all pages, once more for each that is
 * half transparent, blended or filtered: of a thousand the page beside the frame stands still as well, and that process takes gigabytes.
 * What lies behind an element is filtered there, too.
 */
const layered = [
	'will-change',
	'backdrop-filter',
	'-webkit-backdrop-filter',
	'transform-style',
	'perspective',
	'backface-visibility',
	// Without a duration an animation is at its end at once: what it fades in is seen, and nothing is drawn again and again.
	'animation-duration',
	'animation-delay',
	'animation-timeline',
	'transition',
];

/** Transformations that remain in the plane, whatever the arguments are. */
const flat = new Set('matrix translate translatex translatey scale scalex scaley rotate skew skewx skewy'.split(' '));

/** Removes from declarations what makes layers. Of a transformation that has a depth only to ask for one, the rest remains. */
export function drawInOneLayer(style: CSSStyleDeclaration): void {
	for (const name of layered) style.removeProperty(name);
	const change = (name: string, to: (value: string) => string) => {
		const before = style.getPropertyValue(name);
		if (before === '') return;
		const after = to(before);
		if (after === '') style.removeProperty(name);
		else if (after !== before) style.setProperty(name, after, style.getPropertyPriority(name));
	};
	change('transform', flatTransform);
	const depths = { translate: 3, scale: 3, rotate: 2 };
	for (const [name, depth] of Object.entries(depths)) {
		change(name, (value) => {
			const parts = partsOf(value);
			// A variable may be more than one.
			return parts.length < depth && parts.every(isOne) ? value : '';
		});
	}
}

const isOne = (part: string) => !part.includes('(') || /^(?:calc|min|max|clamp)\(/.test(part);

/** Empty for one that leaves the plane, or of which nobody knows before its variables do. */
export function flatTransform(value: string): string {
	const plain = value
		.replaceAll(/\b(?:translateZ|perspective)\([^()]*\)/gi, '')
		.replaceAll(/\brotateZ\(/gi, 'rotate(')
		.replaceAll(/\b(translate|scale)3d\(([^(),]*,[^(),]*),[^(),]*\)/gi, '$1($2)')
		.trim();
	return partsOf(plain).every((part) => !part.includes('(') || flat.has(part.slice(0, part.indexOf('(')).toLowerCase()))
		? plain
		: '';
}

/** What spaces part, outside of brackets. */
function partsOf(value: string): string[] {
	const parts: string[] = [''];
	let depth = 0;
	for (const character of value) {
		if (character === '(') depth++;
		else if (character === ')') depth--;
		if (depth === 0 && character.trim() === '') parts.push('');
		else parts[parts.length - 1] += character;
	}
	return parts.filter((part) => part !== '');
}
