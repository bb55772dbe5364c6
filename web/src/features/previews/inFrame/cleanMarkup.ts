import { maxPixels, pixelsOfAddress } from '../common/images/pixels.js';
import { drawsTooMuch, sheetsOf } from '../common/markup/drawings.js';
import type { FontBudget } from '../common/markup/fonts.js';
import {
	hasTooManyTracks,
	isShapedByPicture,
	namesTooManyAreas,
	repeatsTooOften,
} from '../common/markup/layoutCost.js';
import { inLine } from '../common/markup/longTexts.js';
import { isNestedTooDeep, type StyleBudget, stylesCostTooMuch } from '../common/markup/styleCost.js';
import { valuesCostTooMuch } from '../common/markup/styleValues.js';
import { boundTables } from './boundTables.js';
import { replaceAddresses } from './cssAddresses.js';
import { drawInOneLayer } from './oneLayer.js';

export interface Sources {
	/** A URL within this page for a reference in a file, such as a picture packed with it; undefined if there is none. */
	resolve(address: string): string | undefined;
	/** The budget of all fonts that the page gets of the file. */
	fonts: FontBudget;
	/** The budget of all its style sheets. */
	styles: StyleBudget;
}

const forbidden =
	'script, iframe, frame, frameset, object, embed, applet, portal, base, meta, link, form, template, audio, video, source, track, animate, set, animateMotion, animateTransform, foreignObject > script';

/** Attributes that name an address, apart from links. */
const sources = new Set([
	'src',
	'poster',
	'background',
	'data',
	'lowsrc',
	'dynsrc',
	'cite',
	'longdesc',
	'manifest',
	'action',
	'formaction',
	'ping',
	'srcset',
	'imagesrcset',
	'profile',
	'codebase',
	'archive',
	'classid',
]);

/**
 * Removes everything from a document that runs, sends or fetches, before it is added to a page. References within the
 * file are replaced by `resolve` of where they are from; links lead elsewhere only by a click, and never by themselves. Returns the clean
 * style sheets that are to be added to it: none, nor any of its own, where all of them would take the browser too
 * long.
 */
export function cleanMarkup(root: ParentNode, from: Sources, linked: readonly string[] = []): readonly string[] {
	for (const element of root.querySelectorAll(forbidden)) element.remove();
	standStill(root);
	boundTables(root);
	for (const element of root.querySelectorAll('*')) {
		if (element.localName === 'style') element.textContent = cleanCss(element.textContent ?? '', from);
		for (const { name, value } of [...element.attributes]) {
			const local = name.toLowerCase().replace(/^.*:/, '');
			if (local.startsWith('on') || local.startsWith('data-on')) element.removeAttribute(name);
			else if (local === 'style') {
				const style = cleanDeclarations(value, from);
				if (style === '') element.removeAttribute(name);
				else element.setAttribute(name, style);
			} else if (local === 'href') cleanLink(element, name, value, from);
			else if (sources.has(local)) {
				const own = local === 'src' && element.localName === 'img' ? resolved(value, from) : undefined;
				if (own === undefined) element.removeAttribute(name);
				else element.setAttribute(name, own);
			} else if (!isText(local) && /url\s*\(|\\/i.test(value) && !isSafeReference(value)) {
				// Such as `fill`, `filter` and `mask` of a drawing.
				element.removeAttribute(name);
			}
		}
	}
	// Emptied and not removed: one may be the whole document.
	const empty = (selector: string) => {
		for (const element of root.querySelectorAll(selector)) element.replaceChildren();
	};
	const sheets = [...linked, ...sheetsOf(root)];
	const removeOwnStyles = () => {
		for (const element of root.querySelectorAll('[style], [stroke-dasharray]')) {
			for (const name of ['style', 'stroke-dasharray']) element.removeAttribute(name);
		}
	};
	const isTooStyled = stylesCostTooMuch(root, sheets) || valuesCostTooMuch(root, sheets);
	if (isTooStyled) empty('style');
	if (isTooStyled && valuesCostTooMuch(root, [])) removeOwnStyles();
	if (!drawsTooMuch(root, isTooStyled ? [] : sheets)) return isTooStyled ? [] : linked;
	empty('svg');
	if (!drawsTooMuch(root, isTooStyled ? [] : sheets)) return isTooStyled ? [] : linked;
	empty('style');
	removeOwnStyles();
	return [];
}

/** What moves by itself, in a layer of its own, is an element that does not. It may be hidden, or what a link leads to. */
function standStill(root: ParentNode): void {
	for (const element of root.querySelectorAll('marquee')) {
		const plain = element.ownerDocument.createElementNS(element.namespaceURI, 'div');
		for (const attribute of element.attributes) plain.setAttributeNode(attribute.cloneNode() as Attr);
		plain.append(...element.childNodes);
		element.replaceWith(plain);
	}
}

/** Attributes for readers, which no browser reads as styles: of a formula they may be in the words of TeX. */
const texts = new Set(['abbr', 'alt', 'alttext', 'label', 'summary', 'title']);
const isText = (name: string) => texts.has(name) || name.startsWith('aria-');

const isSafeReference = (value: string) => /^\s*url\(\s*["']?#[\w.-]+["']?\s*\)\s*$/.test(value);

function cleanLink(element: Element, name: string, value: string, from: Sources): void {
	const address = value.trim();
	if (element.localName === 'image' || element.localName === 'use' || element.localName === 'feImage') {
		const own = address.startsWith('#') ? address : resolved(address, from);
		if (own === undefined) element.removeAttribute(name);
		else element.setAttribute(name, own);
		return;
	}
	const isLink = element.localName === 'a' || element.localName === 'area';
	const isHarmless = /^(https?:|mailto:|#)/i.test(address) || !/^[^/?#]*:/.test(address);
	if (!isLink || !isHarmless || address.startsWith('//')) element.removeAttribute(name);
}

/** Also of a document, in which fonts have a type of their own. */
const fontAddress = /^data:(?:font\/|application\/vnd\.openxmlformats-officedocument\.obfuscatedFont;)/i;

function resolved(given: string, from: Sources): string | undefined {
	const address = given.trim();
	if (fontAddress.test(address)) return from.fonts.admitsAddress(address) ? address : undefined;
	if (!/^data:image\/(?!svg)/i.test(address)) return from.resolve(address);
	// A picture of a few kilobytes may take gigabytes when it is drawn.
	return pixelsOfAddress(address) <= maxPixels ? address : undefined;
}

/** A style sheet without anything that is fetched from elsewhere. */
export function cleanCss(css: string, from: Sources): string {
	if (!from.styles.admits(css) || isNestedTooDeep(css) || namesTooManyAreas(css)) return '';
	// Read by the browser and written again, every escape and odd spelling is gone.
	const sheet = new CSSStyleSheet();
	try {
		sheet.replaceSync(css.replaceAll(/@import\b[^;{}]*;?/gi, ''));
	} catch {
		// Declarations that the browser rejects would have no effect either.
		return '';
	}
	boundLayout(sheet);
	return [...sheet.cssRules]
		.filter((rule) => !(rule instanceof CSSImportRule))
		.map((rule) => replaceAddresses(rule.cssText, (address) => resolved(address, from)))
		.join('\n');
}

function boundLayout(parent: Pick<CSSStyleSheet, 'cssRules' | 'deleteRule'>): void {
	// From the end, so that the places of others stay when one is deleted.
	for (let at = parent.cssRules.length - 1; at >= 0; at--) {
		const rule = parent.cssRules[at] as CSSRule;
		if ('style' in rule) boundDeclarations(rule.style as CSSStyleDeclaration);
		if ('cssRules' in rule) boundLayout(rule as CSSGroupingRule);
		// What a variable stands for where nothing else is said.
		if (rule instanceof CSSPropertyRule && hasTooManyTracks(rule.initialValue ?? '')) parent.deleteRule(at);
	}
}

/**
 * Each set of columns within another one multiplies the time to lay out what is in it, and paragraphs that are made
 * one have no bound (`boundTexts`).
 */
function boundDeclarations(style: CSSStyleDeclaration): void {
	drawInOneLayer(style);
	style.removeProperty('columns');
	boundGrid(style);
	if (isShapedByPicture(style.getPropertyValue('shape-outside'))) style.removeProperty('shape-outside');
	// `all` stands for `display` as well. `removeProperty('all')` would take all other declarations with it.
	if (style.getPropertyValue('all') !== '')
		style.cssText = style.cssText.replaceAll(/\ball: [\w-]+(?: !important)?;/g, '');
	if (inLine.test(style.display)) style.removeProperty('display');
	// Importance would win against the styles that bound tables.
	const collapse = style.getPropertyValue('border-collapse');
	if (style.getPropertyPriority('border-collapse') !== '') style.setProperty('border-collapse', collapse);
}

/** Of what variables stand for nothing is read before a browser has it: so none of them repeats tracks either. */
function boundGrid(style: CSSStyleDeclaration): void {
	for (const name of ['grid', 'grid-template', 'grid-template-columns', 'grid-template-rows'])
		if (hasTooManyTracks(style.getPropertyValue(name))) style.removeProperty(name);
	// To look for each variable would take the square of their number.
	if (repeatsTooOften(style.cssText)) style.cssText = '';
}

const declarations = new CSSStyleSheet();
declarations.replaceSync('a{}');

function cleanDeclarations(text: string, from: Sources): string {
	if (namesTooManyAreas(text)) return '';
	const { style } = declarations.cssRules[0] as CSSStyleRule;
	style.cssText = text;
	boundDeclarations(style);
	return replaceAddresses(style.cssText, (address) => resolved(address, from));
}
