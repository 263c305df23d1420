// Runs the stopped clock (Playwright's) of the page and its frames for some milliseconds.
async function (ticks) {
  const run = async frame => {
    try {
      await frame.__pwClock?.controller.runFor(ticks);
    } catch (error) {
      if (error.name !== 'SecurityError') throw error;  // a frame of another origin
    }
    for (let i = 0; i < frame.length; i++) await run(frame[i]);
  };
  await run(window);
}
