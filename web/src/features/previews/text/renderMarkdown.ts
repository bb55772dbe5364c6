import createPurifier from 'dompurify';
import { mayOpenLink } from '../common/links.js';

/** The elements that a text may contain. Nothing here runs, sends a request or leaves its place. */
const tags =
	'a abbr b blockquote br caption code dd del details dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var'.split(
		' ',
	);
const attributes = 'align alt checked colspan disabled href open rowspan src start title type'.split(' ');

const purifier = createPurifier(window);

purifier.addHook('afterSanitizeAttributes', (element) => {
	if (element.hasAttribute('href')) {
		const address = element.getAttribute('href') ?? '';
		if (mayOpenLink(address)) {
			element.setAttribute('target', '_blank');
			element.setAttribute('rel', 'noopener noreferrer');
		} else element.removeAttribute('href');
	}
	if (
		element.nodeName === 'IMG' &&
		!/^data:image\/(png|jpeg|gif|webp|avif);/i.test(element.getAttribute('src') ?? '')
	) {
		element.replaceWith(element.ownerDocument.createTextNode(element.getAttribute('alt') ?? ''));
	} else if (element.nodeName !== 'IMG') element.removeAttribute('src');
	// The only form fields are the checkboxes of task lists, which are disabled here.
	if (element.nodeName === 'INPUT') {
		if (element.getAttribute('type') !== 'checkbox') element.remove();
		else {
			element.setAttribute('disabled', '');
			element.setAttribute('aria-hidden', 'true');
		}
	}
	// Its headings are below the heading with the name of the file.
	if (/^H[1-6]$/.test(element.nodeName)) {
		element.setAttribute('role', 'heading');
		element.setAttribute('aria-level', String(Math.min(6, Number(element.nodeName[1]) + 2)));
	}
});

/** The HTML of a Markdown text as elements. It is sanitized in a document of its own, so that nothing of it is ever fetched. */
export function renderMarkdown(html: string): DocumentFragment {
	return purifier.sanitize(html, {
		ALLOWED_TAGS: tags,
		ALLOWED_ATTR: attributes,
		ALLOW_DATA_ATTR: false,
		ALLOW_ARIA_ATTR: false,
		RETURN_DOM_FRAGMENT: true,
	});
}
