/** Links and fields of one page, each an element. */
const maxAnnotations = 2_000;
/** Pieces of text on one page, each an element, and the characters of all. A dense page has some thousands. */
const maxItems = 8_000;
const maxCharacters = 300_000;

/** The parts of a document of pdf.js that are bounded here. */
interface Pages<P extends Page> {
	getPage(number: number): Promise<P>;
}

interface Page {
	getAnnotations(options?: object): Promise<unknown[]>;
	streamTextContent(options?: object): ReadableStream<TextChunk>;
}

interface TextChunk {
	items: readonly { str?: string }[];
}

/**
 * Has the pages of a document give the page no more links, fields and texts than a browser lays out in a moment. The
 * others are drawn, and can't be clicked, selected or found.
 */
export function boundPages<P extends Page>(document: Pages<P>): void {
	const known = new WeakSet<P>();
	const getPage = document.getPage.bind(document);
	document.getPage = async (number) => {
		const page = await getPage(number);
		if (!known.has(page)) bound(page);
		known.add(page);
		return page;
	};
}

function bound(page: Page): void {
	const getAnnotations = page.getAnnotations.bind(page);
	page.getAnnotations = async (options) => (await getAnnotations(options)).slice(0, maxAnnotations);
	const streamTextContent = page.streamTextContent.bind(page);
	page.streamTextContent = (options) => {
		let items = 0;
		let characters = 0;
		const isBounded = ({ str = '' }: TextChunk['items'][number]) => {
			items++;
			characters += str.length;
			return items <= maxItems && characters <= maxCharacters;
		};
		return streamTextContent(options).pipeThrough(
			new TransformStream<TextChunk, TextChunk>({
				transform: (chunk, controller) => controller.enqueue({ ...chunk, items: chunk.items.filter(isBounded) }),
			}),
		);
	};
}
