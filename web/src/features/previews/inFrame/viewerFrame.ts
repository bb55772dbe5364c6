import { maxLink } from '../common/markup/linkBounds.js';
import type { FrameCommand, FrameContent, FrameEvent, FrameView } from '../frame/frameMessages.js';

/**
 * The one script of the viewers' frame (`/viewer-frame`): reads a user's file, and shows it as the page asks. The
 * frame has an opaque origin, and a policy by which nothing else runs and nothing is fetched.
 */
window.addEventListener('message', ({ source, ports: [port] }) => {
	if (source === window.parent && port) listen(port);
});

function listen(port: MessagePort): void {
	const say = (event: FrameEvent) => port.postMessage(event);
	let view: FrameView | undefined;
	let keys: readonly string[] = [];

	port.onmessage = async ({ data: command }: MessageEvent<FrameCommand>) => {
		try {
			if (command.kind === 'ping') say({ kind: 'pong' });
			else if (command.kind === 'selectAll') getSelection()?.selectAllChildren(document.body);
			else if (command.kind === 'open') {
				keys = command.keys;
				view = await open(command.content, say);
			} else view?.run?.(command);
		} catch {
			// It is broken, or there is too much of it.
			say({ kind: 'failed' });
		}
	};

	document.addEventListener('keydown', (event) => {
		const { key, code, ctrlKey, metaKey, altKey, shiftKey } = event;
		if (keys.includes(key) && !ctrlKey && !metaKey && !altKey) event.preventDefault();
		say({ kind: 'key', key, code, ctrlKey, metaKey, altKey, shiftKey });
	});
	const follow = (event: Event) => {
		const target = event.target as Element;
		const link = target.closest?.('a, area');
		// Whatever it is, the frame never goes there by itself. A link that a drawing uses is none of the document's
		// elements, only the `use` is.
		if (link || target instanceof SVGElement) event.preventDefault();
		if (!link) return;
		const address = (link.getAttribute('href') ?? link.getAttributeNS(xlink, 'href'))?.trim();
		if (address === undefined || address.length > maxLink) return;
		if (/^(?:[a-z][\w+.-]*:|\/\/)/i.test(address)) say({ kind: 'link', address });
		else view?.follow(address);
	};
	document.addEventListener('click', follow);
	// The middle button.
	document.addEventListener('auxclick', (event) => event.button === 1 && follow(event));
}

async function open(content: FrameContent, say: (event: FrameEvent) => void): Promise<FrameView> {
	switch (content.kind) {
		case 'book':
			return (await import('../epub/openBook.js')).openBook(content, say);
		case 'word':
			return (await import('../document/renderDocx.js')).renderDocx(content, say);
		case 'drawing':
			say({ kind: 'shown', ...(await (await import('../image/showDrawing.js')).showDrawing(content.bytes)) });
			return { follow: () => {} };
		case 'pdf':
			return (await import('../pdf/showPdf.js')).showPdf(content, say);
	}
}

/** The older way of a drawing to name an address. */
const xlink = 'http://www.w3.org/1999/xlink';
