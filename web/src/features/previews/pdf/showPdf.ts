import { isOwnCall } from '../common/links.js';
import { boundPages } from './boundPages.js';
import { assertPages, loadPlugin, openPdf } from './loadPdf.js';

export interface OutlineItem {
	title: string;
	/** Its target within the document; undefined for a heading or for an external link. */
	destination: string | unknown[] | undefined;
	items: readonly OutlineItem[];
}

/** A document that is on screen. */
export interface PdfPages {
	count: number;
	outline: readonly OutlineItem[];
	goTo(page: number): void;
	goToDestination(destination: string | unknown[]): void;
	zoomIn(): void;
	zoomOut(): void;
	/** Searches a text; an empty one ends the search. */
	find(query: string, step: 'first' | 'next' | 'previous'): void;
}

export interface PdfListeners {
	onPage: (page: number) => void;
	onScale: (scale: number) => void;
	onFound: (found: { current: number; total: number }) => void;
}

/**
 * Pixels of one page; the visible part of a larger one is drawn on a second canvas. The viewer keeps the ten pages that were seen last or are near
 * the screen and releases the others, so a document of any length takes at most 10 x 32 MB of canvases.
 */
const maxCanvasPixels = 8 * 1024 * 1024;

const zoomStep = 1.25;
const maxScale = 5;
const minScale = 0.1;
const maxOutlineItems = 5_000;

/** Renders a document into a container, its pages as they come on screen, until the signal is fired. Throws `PdfPluginMissing`. */
export async function showPdf(
	container: HTMLDivElement,
	url: string,
	listeners: PdfListeners,
	signal: AbortSignal,
): Promise<PdfPages> {
	const plugin = await loadPlugin();
	const { pdfjs, kit, worker } = plugin;
	const ends: (() => unknown)[] = [() => worker.terminate()];
	const end = () => {
		for (const each of ends.splice(0).reverse()) each();
	};
	signal.addEventListener('abort', end, { once: true });
	try {
		signal.throwIfAborted();
		const task = openPdf(plugin, url);
		// Its worker is ended as well, whatever is left of the task.
		ends.push(() => void task.destroy().catch(() => {}));
		const document = await task.promise;
		await assertPages(document);
		boundPages(document);
		signal.throwIfAborted();

		const eventBus = new kit.EventBus();
		const linkService = new kit.PDFLinkService({ eventBus, externalLinkTarget: kit.LinkTarget.BLANK });
		linkService.externalLinkRel = 'noopener noreferrer';
		const addLink = linkService.addLinkAttributes.bind(linkService);
		linkService.addLinkAttributes = (link, address, newWindow) => {
			if (!isOwnCall(address)) addLink(link, address, newWindow);
		};
		const findController = new kit.PDFFindController({ eventBus, linkService });
		const viewer = new kit.PDFViewer({
			container,
			viewer: container.firstElementChild as HTMLDivElement,
			eventBus,
			linkService,
			findController,
			annotationMode: pdfjs.AnnotationMode.ENABLE,
			annotationEditorMode: pdfjs.AnnotationEditorType.DISABLE,
			removePageBorders: true,
			maxCanvasPixels,
		});
		linkService.setViewer(viewer);
		const initiated = new Promise<void>((resolve) => eventBus.on('pagesinit', () => resolve(), { once: true }));
		eventBus.on('pagechanging', ({ pageNumber }: { pageNumber: number }) => listeners.onPage(pageNumber));
		eventBus.on('scalechanging', ({ scale }: { scale: number }) => listeners.onScale(scale));
		const onFound = ({ matchesCount }: { matchesCount: { current: number; total: number } }) =>
			listeners.onFound(matchesCount);
		eventBus.on('updatefindmatchescount', onFound);
		eventBus.on('updatefindcontrolstate', onFound);
		ends.push(() => viewer.setDocument(null as never));
		viewer.setDocument(document);
		linkService.setDocument(document, null);
		await initiated;
		viewer.currentScaleValue = 'auto';
		const outline = outlineOf(await document.getOutline().catch(() => []));
		signal.throwIfAborted();

		const zoomBy = (factor: number) => {
			viewer.currentScale = Math.min(maxScale, Math.max(minScale, viewer.currentScale * factor));
		};
		return {
			count: document.numPages,
			outline,
			goTo(page) {
				viewer.currentPageNumber = page;
			},
			goToDestination: (destination) => void linkService.goToDestination(destination as string),
			zoomIn: () => zoomBy(zoomStep),
			zoomOut: () => zoomBy(1 / zoomStep),
			find(query, step) {
				eventBus.dispatch('find', {
					source: container,
					type: step === 'first' ? '' : 'again',
					query,
					caseSensitive: false,
					entireWord: false,
					highlightAll: true,
					findPrevious: step === 'previous',
					matchDiacritics: false,
				});
			},
		};
	} catch (error) {
		end();
		throw error;
	}
}

interface RawItem {
	title: string;
	dest: string | unknown[] | null;
	items: RawItem[];
}

/** The outline is truncated after this many entries. */
function outlineOf(raw: readonly RawItem[] | null): OutlineItem[] {
	let count = 0;
	const convert = (items: readonly RawItem[], depth: number): OutlineItem[] =>
		items.flatMap((item) => {
			if (depth > 8 || ++count > maxOutlineItems) return [];
			return { title: item.title, destination: item.dest ?? undefined, items: convert(item.items, depth + 1) };
		});
	return convert(raw ?? [], 0);
}
