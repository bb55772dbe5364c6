/**
 * The most steps from part to part of a picture: markers, chunks, boxes, extensions. A picture of 50 MB has room for millions that are
 * empty, through which the page goes several times and then the browser in its thread. Cameras and programs write some hundreds at most.
 */
export const maxSteps = 100_000;
