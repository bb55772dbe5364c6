import { createContext, use } from 'react';

export const CoveredContext = createContext(0);

/**
 * How much of the window's lower edge notices cover, in CSS pixels. What scrolls there leaves as much free behind its end, so that nothing
 * stays hidden by a notice that lasts.
 */
export const useCovered = () => use(CoveredContext);
