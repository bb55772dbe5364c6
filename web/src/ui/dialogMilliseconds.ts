/** How long a dialog takes to come and go; the theme's transitions take as long. */
export const dialogMilliseconds = 150;
