import type { Point } from '../selection/marquee.js';

/** The space between a menu and the edge of the window. */
export const menuMargin = 10;

export interface Size {
	width: number;
	height: number;
}

/** The position of a menu: at the point, flipped to its other side or shifted where it would leave the window. */
export function placeMenu(at: Point, menu: Size, window: Size): { left: number; top: number } {
	return {
		left: place(at.x, menu.width, window.width),
		top: place(at.y, menu.height, window.height),
	};
}

function place(at: number, size: number, room: number): number {
	const most = room - menuMargin - size;
	if (at <= most) return Math.max(menuMargin, at);
	const flipped = at - size;
	return Math.max(menuMargin, flipped >= menuMargin ? Math.min(flipped, most) : most);
}
