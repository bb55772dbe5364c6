import type { Point } from '../selection/rubberBand.js';

/** Space that is kept between a menu and the edge of the window. */
export const menuMargin = 10;

export interface Size {
	width: number;
	height: number;
}

/** Where a menu opens: at the point, turned to its other side or pushed in where the window ends. */
export function placeMenu(at: Point, menu: Size, window: Size): { left: number; top: number } {
	return {
		left: place(at.x, menu.width, window.width),
		top: place(at.y, menu.height, window.height),
	};
}

function place(at: number, size: number, room: number): number {
	const most = room - menuMargin - size;
	if (at <= most) return Math.max(menuMargin, at);
	const turned = at - size;
	return Math.max(menuMargin, turned >= menuMargin ? Math.min(turned, most) : most);
}
