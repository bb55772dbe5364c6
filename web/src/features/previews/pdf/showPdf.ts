import type {
	FrameContent,
	FrameEvent,
	FrameView,
	OutlineItem,
	PdfCommand,
	ZoomCommand,
} from '../frame/frameMessages.js';
import { type SilenceWatch, watchSilence } from '../frame/watchSilence.js';
import { scaleAfter } from '../frame/zoom.js';
import { boundPages } from './boundPages.js';
import { assertPages, loadPdfjs, type OpenPdf, openPdf } from './openPdf.js';
import { maxOutlineItems, maxOutlineLevels, maxSilentSeconds, maxTitle } from './pdfBounds.js';
import pageStyles from './pdfPages.css?inline';
import { startPdfWorker } from './startPdfWorker.js';

/**
 * Pixels of one page; the visible part of a larger one is drawn on a second canvas. The viewer keeps the ten pages
 * that were seen last or are near the screen and releases the others, so a document of any length takes at most 10 x
 * 32 MB of canvases.
 */
const maxCanvasPixels = 8 * 1024 * 1024;

const foundMs = 50;

type PdfContent = Extract<FrameContent, { kind: 'pdf' }>;

/**
 * Draws a document in the frame, its pages as they come on screen. What it does to the browser that takes minutes, or
 * all memory, is done in the frame's process.
 */
export function showPdf(content: PdfContent, say: (event: FrameEvent) => void): FrameView {
	let receive: OpenPdf['receive'] = () => {};
	let run: ((command: PdfCommand | ZoomCommand) => void) | undefined;
	let opening: SilenceWatch | undefined;
	const open = async () => {
		const port = startPdfWorker(() => say({ kind: 'failed' }));
		const [{ pdfjs, kit }, worker] = await Promise.all([loadPdfjs(), port]).catch(() => {
			throw new Refused('missing');
		});
		const opened = openPdf(pdfjs, content, worker, say);
		({ receive } = opened);
		// pdf.js never ends some waits after an error, where its worker is not busy.
		opening = watchSilence(
			() => opened.isWaiting() && opening?.hear(),
			() => say({ kind: 'failed' }),
			maxSilentSeconds,
		);
		const document = await opened.task.promise;
		assertPages(document);
		boundPages(document);
		// Without it the viewer of pdf.js would wait for ever.
		await document.getPage(1);
		const { info } = await document.getMetadata().catch(() => ({ info: {} }));
		const container = placeContainer(content.fileName, languageOf(info));
		const eventBus = new kit.EventBus();
		// Links are opened by the frame's handler.
		const linkService = new kit.PDFLinkService({ eventBus });
		const viewer = new kit.PDFViewer({
			container,
			viewer: container.firstElementChild as HTMLDivElement,
			eventBus,
			linkService,
			findController: new kit.PDFFindController({ eventBus, linkService }),
			annotationMode: pdfjs.AnnotationMode.ENABLE,
			annotationEditorMode: pdfjs.AnnotationEditorType.DISABLE,
			removePageBorders: true,
			maxCanvasPixels,
		});
		linkService.setViewer(viewer);
		const initiated = new Promise<void>((resolve) => eventBus.on('pagesinit', () => resolve(), { once: true }));
		eventBus.on('pagechanging', ({ pageNumber }: { pageNumber: number }) => say({ kind: 'page', page: pageNumber }));
		eventBus.on('scalechanging', ({ scale }: { scale: number }) => say({ kind: 'scale', scale }));
		let found = { current: 0, total: 0 };
		let isToBeSaid = false;
		const onFound = ({ matchesCount }: { matchesCount: typeof found }) => {
			found = matchesCount;
			if (isToBeSaid) return;
			isToBeSaid = true;
			// Each of thousands of pages has its own results.
			setTimeout(() => {
				isToBeSaid = false;
				say({ kind: 'found', current: found.current, total: found.total });
			}, foundMs);
		};
		eventBus.on('updatefindmatchescount', onFound);
		eventBus.on('updatefindcontrolstate', onFound);
		viewer.setDocument(document);
		linkService.setDocument(document, null);
		await initiated;
		viewer.currentScaleValue = 'auto';
		const { items, destinations } = outlineOf(await document.getOutline().catch(() => []));

		run = (command) => {
			if (command.kind === 'goToPage') viewer.currentPageNumber = command.page;
			else if (command.kind === 'goToDestination') {
				void linkService.goToDestination(destinations[command.destination] as string);
			} else if (command.kind === 'zoom') viewer.currentScale = scaleAfter(viewer.currentScale, command.to);
			else if (command.kind === 'find') {
				eventBus.dispatch('find', {
					source: container,
					type: command.step === 'first' ? '' : 'again',
					query: command.query,
					caseSensitive: false,
					entireWord: false,
					highlightAll: true,
					findPrevious: command.step === 'previous',
					matchDiacritics: false,
				});
			}
		};
		say({ kind: 'paged', pages: document.numPages, outline: items });
	};
	open()
		.catch((error: unknown) => say({ kind: 'failed', reason: reasonOf(error) }))
		.finally(() => opening?.end());
	return {
		run(command) {
			if (command.kind === 'bytes') receive(command.begin, command.bytes);
			else run?.(command as PdfCommand | ZoomCommand);
		},
		// pdf.js goes there by itself.
		follow: () => {},
	};
}

/** Why it can't be shown, by a word that the page knows. */
class Refused extends Error {}

function reasonOf(error: unknown): string | undefined {
	if (error instanceof Refused) return error.message;
	return error instanceof Error && error.name === 'PasswordException' ? 'password' : undefined;
}

/** The viewer of pdf.js wants a container that is placed so. */
const frameStyles = `
	html { height: 100%; background: #171b20; }
	body { margin: 0; font: 14px/1.3 sans-serif; }
	.container { position: absolute; inset: 0; overflow: auto; outline-offset: -2px; }
`;

/** The language that a document declares. */
function languageOf(info: object): string {
	const declared = 'Language' in info ? String(info.Language).slice(0, 40) : '';
	return /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*$/.test(declared) ? declared : 'en';
}

function placeContainer(name: string, language: string): HTMLDivElement {
	const style = document.createElement('style');
	style.textContent = frameStyles + pageStyles;
	document.head.append(style);
	document.title = name;
	document.documentElement.lang = language;
	const container = document.createElement('div');
	container.className = 'container';
	// It scrolls by the keyboard.
	container.tabIndex = 0;
	container.setAttribute('role', 'document');
	container.setAttribute('aria-label', name);
	const pages = document.createElement('div');
	pages.className = 'pdfViewer';
	container.append(pages);
	document.body.replaceChildren(container);
	return container;
}

interface RawItem {
	title: string;
	dest: string | unknown[] | null;
	items: RawItem[];
}

/** The outline, truncated where it is too long, with its destinations by their numbers. */
function outlineOf(raw: readonly RawItem[] | null): { items: OutlineItem[]; destinations: unknown[] } {
	let count = 0;
	const destinations: unknown[] = [];
	const convert = (items: readonly RawItem[], level: number): OutlineItem[] =>
		items.flatMap(({ title, dest, items: inner }) => {
			if (level >= maxOutlineLevels || ++count > maxOutlineItems) return [];
			// A heading or an external link has none.
			const destination = dest === null ? undefined : destinations.push(dest) - 1;
			return { title: title.slice(0, maxTitle), destination, items: convert(inner, level + 1) };
		});
	return { items: convert(raw ?? [], 0), destinations };
}
