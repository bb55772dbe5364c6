import { pictureOfDrawing } from '../common/markup/drawings.js';

/** A drawing is drawn as a picture, in which nothing runs and nothing is fetched. */
const pageStyles = `
	html, body { height: 100%; margin: 0; overflow: hidden; background: transparent; }
	img { display: block; width: 100%; height: 100%; object-fit: contain; }
`;

/** Fills the frame with a drawing; resolves to its size. Throws for one that can't be drawn, or not in time. */
export async function showDrawing(bytes: Uint8Array): Promise<{ width: number; height: number }> {
	const drawing = pictureOfDrawing(bytes);
	if (!drawing) throw new Error('It would take too long to draw.');
	const style = document.createElement('style');
	style.textContent = pageStyles;
	const picture = new Image();
	picture.src = URL.createObjectURL(new Blob([drawing], { type: 'image/svg+xml' }));
	await picture.decode();
	document.head.replaceChildren(style);
	document.body.replaceChildren(picture);
	return { width: picture.naturalWidth, height: picture.naturalHeight };
}
